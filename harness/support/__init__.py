"""Files, folders, messages and text: what every package needs and no step owns."""
