import { toStorage } from "@hamlet/contract/client"
import type { ComponentChildren } from "preact"
import { Bars, EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import { currentLocation } from "../frame/location.ts"
import type { PageProps } from "../page-props.ts"
import { SectionsPage } from "../parts/sections-page.tsx"
import { useChosenVal, ValFilter } from "../runs/list/val-filter.tsx"
import { acting, canChangeOwn, currentOwner } from "../session/owners.ts"
import { Blobs } from "../storage/blobs.tsx"
import { StorageContext } from "../storage/storage.ts"
import { Tables } from "../storage/tables.tsx"

const sections = {
  "": { label: "SQLite", icon: "data", View: TablesOfOwner },
  blobs: { label: "Blobs", icon: "file", View: Blobs },
} as const

/** Tables and blobs: those that all vals of the user share, or with `?val=` those of one val. */
export function Page({ section = "" }: PageProps) {
  const name = currentLocation.value.query.get("val")
  const { vals } = useChosenVal(null, true)
  const owner = acting.value
  const valsOfOwner = owner ? `vals of ${owner.org.username}` : "your vals"
  const filter = { vals, name, placeholder: "Shared by all vals", clears: ["table", "prefix"] }
  const page = {
    title: "Data",
    end: <ValFilter {...filter} />,
    path: "/data",
    sections,
    current: section,
  }
  if (name === null)
    return <SectionsPage {...page} lead={`What ${valsOfOwner} store. All of them share it.`} />
  return (
    <SectionsPage
      {...page}
      lead={
        <>
          What {name} stores for itself. <a href="/data">What all {valsOfOwner} share</a>
        </>
      }
      search={`?${new URLSearchParams({ val: name })}`}
      around={(view) => <OfVal name={name}>{view}</OfVal>}
    />
  )
}

/** Shows what a val of the user stores for itself. */
function OfVal({ name, children }: { name: string; children: ComponentChildren }) {
  const username = currentOwner()?.username ?? ""
  const val = useResource(name, (signal) =>
    api.getValByName({ username, val_name: name }, { signal }),
  )
  return (
    <Loaded of={val} skeleton={<Bars count={5} />}>
      {({ id }) => (
        <StorageContext.Provider key={id} value={toStorage(api, id)}>
          {children}
        </StorageContext.Provider>
      )}
    </Loaded>
  )
}

/** A query may change tables, which viewers may not. */
function TablesOfOwner() {
  if (canChangeOwn()) return <Tables />
  return (
    <EmptyState icon="lock" title="Not for viewers">
      <p>Your role in {currentOwner()?.username} does not allow queries.</p>
    </EmptyState>
  )
}
