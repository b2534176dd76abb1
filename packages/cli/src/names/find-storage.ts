import { type StorageClient, toStorage } from "@hamlet/contract/client"
import { findTarget } from "../checkout/find-target.ts"
import type { Connection } from "../servers/connection.ts"

/** The option that means the storage of one val. */
export const ofVal = { "--val <val>": "what this val has of its own" } as const

/** The blobs and the database of the account, or of the val that an option names. */
export async function findStorage(
  connection: Connection,
  name: string | undefined,
): Promise<StorageClient> {
  const target = name === undefined ? undefined : await findTarget(connection, name)
  return toStorage(connection.client, target?.val.id)
}
