"""Data set loaders: a card names one as `module:function`."""
