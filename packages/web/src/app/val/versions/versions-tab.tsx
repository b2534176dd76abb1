import { LazyDiffView } from "../../../editor/lazy.tsx"
import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { isNotFound } from "../../data/explain.ts"
import { Loaded, LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { useResource } from "../../data/resource.ts"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Select } from "../../parts/forms/field.tsx"
import { QuerySelect, readChoice } from "../../parts/forms/query-choice.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { VersionRow } from "./version-row.tsx"

const layouts = [
  { value: "inline", label: "Inline" },
  { value: "side-by-side", label: "Side by side" },
] as const

/** All versions: the changes between any two, and a way to restore one. */
export function VersionsTab({ editing, isOwn, base }: ValTabProps) {
  const { id, version: current } = editing.val.value
  const versions = usePages("listVersions", { val_id: id }, 50)
  const { query } = currentLocation.value
  const loaded =
    versions.state.kind === "ready"
      ? versions.state.data.items.map(({ version }) => version)
      : undefined
  const to = readNumber(query.get("to")) ?? current
  // The previous version is not always one less: versions can be deleted.
  const from =
    readNumber(query.get("from")) ??
    (loaded ? (loaded.find((version) => version < to) ?? 0) : undefined)
  const { value: layout } = readChoice("layout", layouts)
  const changed = () => {
    setQuery({ from: undefined, to: undefined })
    versions.reload()
  }
  return (
    <div class="versions">
      <section aria-label="Versions">
        <LoadedPages of={versions} rows={6} empty={null}>
          {(items) => (
            <ol class="version-list">
              {items.map((version, index) => (
                <VersionRow
                  key={version.version}
                  version={version}
                  before={items[index + 1]?.version}
                  isCurrent={version.version === current}
                  isShown={version.version === to}
                  editing={editing}
                  isOwn={isOwn}
                  base={base}
                  onChange={changed}
                />
              ))}
            </ol>
          )}
        </LoadedPages>
      </section>
      <section class="version-diff" aria-label="Changes">
        <div class="row wrap version-bar">
          <h2>Changes</h2>
          <span class="version-choice">
            <VersionSelect
              label="From"
              loaded={loaded}
              value={from ?? 0}
              hasNone
              onChange={(version) => setQuery({ from: version })}
            />
            <span class="quiet" aria-hidden="true">
              →
            </span>
            <VersionSelect
              label="To"
              loaded={loaded}
              value={to}
              onChange={(version) => setQuery({ from: String(from ?? 0), to: version })}
            />
          </span>
          <QuerySelect name="layout" label="Layout" choices={layouts} />
        </div>
        <VersionDifference
          valId={id}
          from={from}
          to={to}
          layout={layout}
          path={`${base.slice(3)}.tsx`}
        />
      </section>
    </div>
  )
}

function VersionSelect(props: {
  readonly label: string
  readonly loaded: readonly number[] | undefined
  readonly value: number
  /** Offers "nothing", to see a whole version. */
  readonly hasNone?: boolean
  readonly onChange: (version: string) => void
}) {
  const { label, loaded = [], value, hasNone = false, onChange } = props
  // The chosen version may be deleted, or on a page that is not loaded.
  const numbers = [...new Set([...loaded, ...(value > 0 ? [value] : [])])].sort(
    (one, other) => other - one,
  )
  const choices = numbers.map((version) => ({ value: String(version), label: `v${version}` }))
  return (
    <Select
      label={label}
      isLabelHidden
      value={String(value)}
      choices={[...choices, ...(hasNone ? [{ value: "0", label: "nothing" }] : [])]}
      onChange={onChange}
    />
  )
}

function readNumber(text: string | null): number | undefined {
  const number = Number(text)
  return text !== null && Number.isInteger(number) && number >= 0 ? number : undefined
}

/** The changes between two versions; nothing is fetched while the first is undefined. */
function VersionDifference(props: {
  readonly valId: string
  readonly from: number | undefined
  readonly to: number
  readonly layout: "inline" | "side-by-side"
  readonly path: string
}) {
  const { valId, from, to, layout, path } = props
  const key = from === undefined ? undefined : `${valId} ${from} ${to}`
  const texts = useResource(key, async (signal) => {
    const [before, after] = await Promise.all(
      [from, to].map((version) => loadCode(valId, version ?? 0, signal)),
    )
    return { before, after }
  })
  return (
    <Loaded of={texts} skeleton={<Bars count={8} />}>
      {({ before, after }) => {
        if (before === undefined || after === undefined)
          return (
            <p class="quiet">
              Version {before === undefined ? from : to} was deleted, or never existed.
            </p>
          )
        if (before === after) return <p class="quiet">The code of both versions is the same.</p>
        const label = `Changes from ${from === 0 ? "nothing" : `version ${from}`} to version ${to}`
        return (
          <div class="boxed diff-host">
            <LazyDiffView before={before} after={after} layout={layout} path={path} label={label} />
          </div>
        )
      }}
    </Loaded>
  )
}

/** Version 0 is empty; a deleted version has no code. */
async function loadCode(
  valId: string,
  version: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (version < 1) return ""
  try {
    return (await api.getVersion({ val_id: valId, version }, { signal })).code
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}
