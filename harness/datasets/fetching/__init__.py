"""Downloads the files of a data set and checks them before they are put in place."""
