import type { ComponentChildren } from "preact"
import { currentLocation, setQuery } from "../../frame/location.ts"
import { Select } from "../../parts/field.tsx"
import { SearchBox } from "../../search/search-box.tsx"
import { sourceChoices, statusChoices, textCharsMax } from "./run-filter.ts"

/** The filters of a list of runs. They are in the address. */
export function FilterBar({ start, children }: FilterBarProps) {
  const { query } = currentLocation.value
  return (
    <search class="toolbar">
      {start}
      <SearchBox
        label="Search the runs"
        placeholder="Address, error or last line"
        charsMax={textCharsMax}
        value={query.get("text") ?? ""}
        onChange={(text) => setQuery({ text })}
      />
      <Select
        label="Status"
        isLabelHidden
        value={query.get("status") ?? ""}
        choices={statusChoices}
        onChange={(status) => setQuery({ status })}
      />
      <Select
        label="Source"
        isLabelHidden
        value={query.get("source") ?? ""}
        choices={sourceChoices}
        onChange={(source) => setQuery({ source })}
      />
      {children}
    </search>
  )
}

interface FilterBarProps {
  /** Before the other filters. */
  readonly start: ComponentChildren
  /** Behind them. */
  readonly children: ComponentChildren
}
