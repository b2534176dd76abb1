import { type StorageClient, toStorage } from "@hamlet/contract/client"
import { findValId, valArgument } from "./find-val.ts"
import type { ToolContext } from "./tool.ts"

/** The argument of a tool that means the storage of one val. */
export const storageArgument = valArgument
  .optional()
  .describe(
    'One of your vals ("name", "username/name" or its id), for what it has of its own through std/blob/main.ts and std/sqlite/main.ts; by default what all your vals share',
  )

/** The storage that an assistant means, and the id of its val; without one, that of the account. */
export async function findStorage(
  context: ToolContext,
  named: string | undefined,
): Promise<{ readonly storage: StorageClient; readonly valId: string | undefined }> {
  const valId = named === undefined ? undefined : await findValId(context, named)
  return { storage: toStorage(context.client, valId), valId }
}
