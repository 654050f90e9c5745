"""Edges that a cluster holds: Spark counts them and writes Parquet, and that folder is the SOURCE."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from fdmvgcl import Graph

orders = [("ada", "tea"), ("ada", "tea"), ("bob", "tea"), ("bob", "milk"), ("cleo", "milk"), ("cleo", "bread")]

spark = SparkSession.builder.master("local[2]").appName("edges").getOrCreate()
table = spark.createDataFrame(orders, ["source", "target"])
edges = table.groupBy("source", "target").agg(f.count("*").alias("weight"))
edges.write.mode("overwrite").parquet("edges")
spark.stop()

graph = Graph.read("edges")
print(graph.describe(), *graph.notes, sep="\n")
