"""What makes parts of the documentation: the page of commands, the pictures, the site. May import everything."""
