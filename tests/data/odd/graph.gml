graph [
  node [ id 0 label "ann" ]
]
