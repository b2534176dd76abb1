import type { Signal } from "@preact/signals"
import { api } from "../../api.ts"
import type { Branch, Val } from "./load-files.ts"

/** Asks whether a branch has a newer version. Of the main branch, only what has changed is read. */
export function createVersionLook(val: Signal<Val>, branch: Signal<Branch>) {
  /** The entity tag of the val as it was last looked at. */
  let etag: string | undefined
  return {
    async mayBeNewer(): Promise<boolean> {
      const { id } = val.peek()
      const { id: branchId, version } = branch.peek()
      if (branchId !== id)
        return (await api.getBranch({ val_id: id, branch_id: branchId })).version > version
      const { body, headers } = await (etag === undefined
        ? api.raw.getVal({ val_id: id })
        : api.raw.getVal({ val_id: id }, { ifNoneMatch: etag }))
      // Nothing has changed.
      if (!body) return false
      etag = headers.get("etag") ?? undefined
      return body.version > branch.peek().version
    },
    /** The next look reads the val again. */
    forget() {
      etag = undefined
    },
  }
}
