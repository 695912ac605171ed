def page_of(text, root): return text
