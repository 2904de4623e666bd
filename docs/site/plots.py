def draw(results, target):
    pass
