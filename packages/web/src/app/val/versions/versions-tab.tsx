import { LoadedPages } from "../../data/loaded.tsx"
import { usePages } from "../../data/pages.ts"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Select } from "../../parts/field.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { VersionDifference } from "./version-difference.tsx"
import { VersionRow } from "./version-row.tsx"

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
  const layout = query.get("layout") === "side-by-side" ? "side-by-side" : "inline"
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
        <div class="version-bar">
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
          <Select
            label="Layout"
            isLabelHidden
            value={layout}
            choices={[
              { value: "inline", label: "Inline" },
              { value: "side-by-side", label: "Side by side" },
            ]}
            onChange={(layout) => setQuery({ layout: layout === "inline" ? undefined : layout })}
          />
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
