"""The grammars: what each language's tree calls its parts, and where its parser comes from."""
