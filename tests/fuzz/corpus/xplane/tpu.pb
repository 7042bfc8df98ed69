
$/device:TPU:0XLA Ops"