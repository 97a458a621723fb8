"""Tables, drawings and pages, whatever they are about: text, HTML, matplotlib."""
