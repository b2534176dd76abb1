import type { ValEditing } from "./code/val-editing.ts"

/**
 * The address of a part of the val's page, on the branch that is shown. The code stays at the file
 * that is shown.
 */
export function toHref(
  { val, branch, files }: ValEditing,
  part = "",
  query: Readonly<Record<string, string>> = {},
): string {
  const { id, name, author } = val.value
  const current = files.current.value
  const isCode = ["", "run", "schedule", "mail"].includes(part)
  const search = new URLSearchParams({
    ...(branch.value.id === id ? {} : { branch: branch.value.name }),
    ...(isCode && current && current !== files.entry.value ? { file: current.path.value } : {}),
    ...query,
  }).toString()
  const path = `/u/${author.username}/${name}${part === "" ? "" : `/${part}`}`
  return search === "" ? path : `${path}?${search}`
}

/** The address of what the val stores for itself. */
export function toDataHref({ val }: Pick<ValEditing, "val">): string {
  return `/data?${new URLSearchParams({ val: val.value.name })}`
}
