import type { PageProps } from "../page-props.ts"
import { SectionsPage } from "../parts/sections-page.tsx"
import { Blobs } from "../storage/blobs.tsx"
import { Tables } from "../storage/tables.tsx"

const sections = {
  "": { label: "SQLite", icon: "data", View: Tables },
  blobs: { label: "Blobs", icon: "file", View: Blobs },
} as const

/** The data of the user's vals: tables and blobs. */
export function Page({ section = "" }: PageProps) {
  const lead = "What your vals store. All of them share it."
  return (
    <SectionsPage title="Data" lead={lead} path="/data" sections={sections} current={section} />
  )
}
