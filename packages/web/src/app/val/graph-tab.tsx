import type { Item } from "@hamlet/contract/client"
import { useLayoutEffect, useMemo, useRef } from "preact/hooks"
import { Bars, EmptyState } from "../../ui/page-states.tsx"
import { Loaded } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { navigate } from "../frame/location.ts"
import { ForkList } from "./fork-parts.tsx"
import { type GraphNode, layOutGraph } from "./graph.ts"
import type { ValTabProps } from "./val-tab-props.ts"

type End = Item<"listValReferences">["reference"]

const limits = { shownMax: 12 }

/** The imports and importers of a val, as a graph of links and as lists, and its forks. */
export function GraphTab({ editing }: ValTabProps) {
  const { id, name, author } = editing.val.value
  const dependencies = usePages("listValDependencies", { val_id: id }, 50)
  const references = usePages("listValReferences", { val_id: id }, 50)
  const skeleton = <Bars count={6} kind="row" />
  return (
    <Loaded of={dependencies} skeleton={skeleton}>
      {({ items: below }) => (
        <Loaded of={references} skeleton={skeleton}>
          {({ items: above }) => (
            <>
              <Graph
                here={{ username: author.username, name }}
                imports={below.map(({ dependsOn }) => dependsOn)}
                importers={above.map(({ reference }) => reference)}
              />
              <ForkList editing={editing} />
            </>
          )}
        </Loaded>
      )}
    </Loaded>
  )
}

interface GraphProps {
  readonly here: { readonly username: string; readonly name: string }
  readonly imports: readonly End[]
  readonly importers: readonly End[]
}

function Graph({ here, imports, importers }: GraphProps) {
  if (imports.length === 0 && importers.length === 0)
    return (
      <EmptyState icon="graph" title="No imports">
        <p>It imports no val, and no val that you can see imports it.</p>
      </EmptyState>
    )
  return (
    <>
      <Diagram here={here} imports={imports} importers={importers} />
      <div class="graph-lists">
        <List title="Imported by" ends={importers} />
        <List title="Imports" ends={imports} />
      </div>
    </>
  )
}

/** Importers on the left, imports on the right. */
function Diagram({ here, imports, importers }: GraphProps) {
  const graph = useMemo(
    () =>
      layOutGraph(
        toLabel(here),
        importers.slice(0, limits.shownMax).map(toLabel),
        imports.slice(0, limits.shownMax).map(toLabel),
      ),
    [here.username, here.name, imports, importers],
  )
  const element = useRef<HTMLDivElement>(null)
  // On a narrow screen the val itself is scrolled into view.
  useLayoutEffect(() => {
    const center = graph.nodes.find(({ side }) => side === "here")
    if (element.current && center)
      element.current.scrollLeft = center.x + (center.width - element.current.clientWidth) / 2
  }, [graph])
  return (
    <div ref={element} class="graph card">
      <svg viewBox={`0 0 ${graph.width} ${graph.height}`} width={graph.width} height={graph.height}>
        <title>Import graph</title>
        {graph.edges.map(({ key, path }) => (
          <path key={key} class="graph-edge" d={path} />
        ))}
        {graph.nodes.map((node) => (
          <Node key={`${node.side} ${node.label}`} node={node} />
        ))}
      </svg>
    </div>
  )
}

function Node({ node }: { node: GraphNode }) {
  const { label, x, y, width, height, side } = node
  const href = `/u/${label}/graph`
  const box = (
    <>
      <rect class={`graph-node graph-${side}`} x={x} y={y} width={width} height={height} rx="6" />
      <text x={x + width / 2} y={y + height / 2} class="graph-label">
        {node.text}
      </text>
    </>
  )
  if (side === "here") return <g>{box}</g>
  return (
    <a
      href={href}
      aria-label={`${label}, ${side === "importer" ? "imports it" : "is imported"}`}
      onClick={(event) => {
        // The app does not handle SVG links by itself.
        event.preventDefault()
        navigate(href)
      }}
    >
      {box}
    </a>
  )
}

function List({ title, ends }: { title: string; ends: readonly End[] }) {
  return (
    <section aria-label={title}>
      <h2>
        {title} <span class="tiny count">{ends.length}</span>
      </h2>
      {ends.length === 0 ? (
        <p class="quiet">None</p>
      ) : (
        <ul>
          {ends.map((end) => (
            <li key={end.id}>
              <a class="row aside-row" href={`/u/${toLabel(end)}`}>
                {toLabel(end)}
              </a>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function toLabel({ username, name }: { readonly username: string; readonly name: string }): string {
  return `${username}/${name}`
}
