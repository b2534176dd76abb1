import { MoreButton } from "../../data/more-button.tsx"
import { Bars, Loaded } from "../../data/page-states.tsx"
import { usePages } from "../../data/pages.ts"
import { place, setQuery } from "../../frame/location.ts"
import { Select } from "../../parts/field.tsx"
import type { ValTabProps } from "../val-tab-props.ts"
import { VersionDifference } from "./version-difference.tsx"
import { VersionRow } from "./version-row.tsx"

/** Every version there was: what changed between any two, and the way back. */
export function VersionsTab({ editing, isOwn, base }: ValTabProps) {
  const { id, version: current } = editing.val.value
  const versions = usePages("listVersions", { val_id: id }, 50)
  const { query } = place.value
  const known =
    versions.state.kind === "ready"
      ? versions.state.data.items.map(({ version }) => version)
      : undefined
  const to = readNumber(query.get("to")) ?? current
  // The one before it is not always one less: versions can be deleted.
  const from =
    readNumber(query.get("from")) ??
    (known ? (known.find((version) => version < to) ?? 0) : undefined)
  const layout = query.get("layout") === "side-by-side" ? "side-by-side" : "inline"
  const changed = () => {
    setQuery({ from: undefined, to: undefined })
    versions.reload()
  }
  return (
    <div class="versions">
      <section aria-label="Versions">
        <Loaded
          of={versions.state}
          onRetry={versions.reload}
          skeleton={<Bars count={6} kind="row" />}
        >
          {({ items }) => (
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
        </Loaded>
        <MoreButton list={versions} />
      </section>
      <section class="version-diff" aria-label="What changed">
        <div class="version-bar">
          <h2>What changed</h2>
          <span class="version-choice">
            <VersionSelect
              label="From"
              known={known}
              value={from ?? 0}
              hasNone
              onChange={(version) => setQuery({ from: version })}
            />
            <span class="quiet" aria-hidden="true">
              →
            </span>
            <VersionSelect
              label="To"
              known={known}
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
  readonly known: readonly number[] | undefined
  readonly value: number
  /** Whether nothing at all can be chosen too, to see a whole version. */
  readonly hasNone?: boolean
  readonly onChange: (version: string) => void
}) {
  const { label, known = [], value, hasNone = false, onChange } = props
  // What is chosen may be further down than what was loaded, or deleted.
  const numbers = [...new Set([...known, ...(value > 0 ? [value] : [])])].sort(
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
