import { useTitle } from "../../../ui/page-title.ts"
import { NotFound } from "../../data/loaded.tsx"
import type { PageProps } from "../../page-props.ts"
import { LinkTabs } from "../../parts/link-tabs.tsx"
import { Blobs } from "../../storage/blobs.tsx"
import { Tables } from "../../storage/tables.tsx"

const tabs = [
  { href: "/data", label: "SQLite", icon: "data" },
  { href: "/data/blobs", label: "Blobs", icon: "file" },
] as const

/** The data of the user's vals: tables and blobs. */
export function Page({ section = "" }: PageProps) {
  useTitle("Data")
  const path = section === "" ? "/data" : `/data/${section}`
  if (!tabs.some(({ href }) => href === path)) return <NotFound />
  return (
    <>
      <div class="page-head">
        <h1>Data</h1>
        <p class="page-lead">What your vals store. All of them share it.</p>
      </div>
      <LinkTabs label="Data" tabs={tabs} current={path} />
      <div class="data-part">{section === "blobs" ? <Blobs /> : <Tables />}</div>
    </>
  )
}
