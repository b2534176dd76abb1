import type { Output } from "@hamlet/contract/client"
import { api } from "../api.ts"
import type { ValFile } from "./select-files.ts"

/** A val with several files, to be created. */
export interface NewVal {
  readonly name: string
  readonly privacy: "public" | "unlisted" | "private"
  readonly files: readonly ValFile[]
}

/** Creates a val whose first version has all the files; if it cannot have them, there is no val. */
export async function createValOf({ name, privacy, files }: NewVal): Promise<Output<"getVal">> {
  const { id } = await api.createFolder({ name, privacy })
  try {
    await api.changeFiles({ val_id: id, changes: [...files] })
  } catch (error) {
    // The first failure is what the user should read.
    await api.deleteFolder({ val_id: id }).catch(() => undefined)
    throw error
  }
  return api.getVal({ val_id: id })
}
