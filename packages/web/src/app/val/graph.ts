/** A val in the import graph. */
export interface GraphNode {
  readonly label: string
  /** The label, truncated to fit. */
  readonly text: string
  readonly side: "importer" | "here" | "imported"
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** The graph: boxes, and lines between them. */
export interface Graph {
  readonly width: number
  readonly height: number
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly { readonly key: string; readonly path: string }[]
}

const box = { width: 220, height: 34, gap: 14, between: 110, margin: 24, charsMax: 27 }

/** Three columns: importers, the val, its imports. Empty columns are left out. */
export function layOutGraph(
  here: string,
  importers: readonly string[],
  imports: readonly string[],
): Graph {
  const rows = Math.max(1, importers.length, imports.length)
  const height = 2 * box.margin + rows * box.height + (rows - 1) * box.gap
  const column = (
    labels: readonly string[],
    side: GraphNode["side"],
    index: number,
  ): readonly GraphNode[] => {
    const top = (height - labels.length * box.height - (labels.length - 1) * box.gap) / 2
    return labels.map((label, row) => ({
      label,
      text: label.length > box.charsMax ? `${label.slice(0, box.charsMax - 1)}…` : label,
      side,
      x: box.margin + index * (box.width + box.between),
      y: top + row * (box.height + box.gap),
      width: box.width,
      height: box.height,
    }))
  }
  const index = importers.length > 0 ? 1 : 0
  const [left, middle, right] = [
    column(importers, "importer", 0),
    column([here], "here", index),
    column(imports, "imported", index + 1),
  ]
  const columns = index + 1 + (imports.length > 0 ? 1 : 0)
  const center = middle[0]
  const edges = center
    ? [...left.map((node) => toEdge(node, center)), ...right.map((node) => toEdge(center, node))]
    : []
  return {
    width: 2 * box.margin + columns * box.width + (columns - 1) * box.between,
    height,
    nodes: [...left, ...middle, ...right],
    edges,
  }
}

function toEdge(from: GraphNode, to: GraphNode) {
  const [x1, y1, x2, y2] = [
    from.x + from.width,
    from.y + from.height / 2,
    to.x,
    to.y + to.height / 2,
  ]
  const bend = (x2 - x1) / 2
  return {
    key: `${from.label} ${to.label} ${from.side}`,
    path: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`,
  }
}
