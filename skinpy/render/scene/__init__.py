"""What a picture shows, and its data on the GPU: the mesh or skeleton of a model, the floor, the shadow."""
