import { describe, expect, test } from "bun:test"
import { layOutGraph } from "./graph.ts"

describe("layOutGraph", () => {
  test("has a box for each val and a line for each import, all inside the graph", () => {
    const graph = layOutGraph("ada/lib", ["bob/one", "eve/two"], ["std/x", "ada/y", "ada/z"])
    expect(graph.nodes).toHaveLength(6)
    expect(graph.edges).toHaveLength(5)
    for (const { x, y, width, height } of graph.nodes) {
      expect(Math.min(x, y)).toBeGreaterThanOrEqual(0)
      expect(x + width).toBeLessThanOrEqual(graph.width)
      expect(y + height).toBeLessThanOrEqual(graph.height)
    }
  })

  test("lets no boxes overlap", () => {
    const { nodes } = layOutGraph(
      "a/b",
      Array.from({ length: 12 }, (_, index) => `x/v${index}`),
      [],
    )
    const left = nodes.filter(({ side }) => side === "importer")
    for (const [index, node] of left.entries())
      expect(left[index + 1]?.y ?? Infinity).toBeGreaterThanOrEqual(node.y + node.height)
  })

  test("leaves out empty columns", () => {
    const both = layOutGraph("a/b", ["x/one"], ["y/two"])
    const left = layOutGraph("a/b", ["x/one"], [])
    const right = layOutGraph("a/b", [], ["y/two"])
    expect(left.width).toBeLessThan(both.width)
    expect(right.width).toBe(left.width)
    expect(right.nodes[0]).toMatchObject({ side: "here", x: left.nodes[0]?.x ?? -1 })
  })
})
