import type { Client } from "./types.ts"

/** Blobs and a database, with the methods of a client. */
export type StorageClient = Pick<
  Client,
  "listBlobs" | "getBlob" | "putBlob" | "deleteBlob" | "executeSql" | "batchSql"
>

/** The blobs and the database of one val of the caller, or without an id those of the account. */
export function toStorage(client: Client, valId: string | undefined): StorageClient {
  if (valId === undefined) return client
  const val = { val_id: valId }
  return {
    listBlobs: (input, options) => client.listValBlobs({ ...input, ...val }, options),
    getBlob: (input, options) => client.getValBlob({ ...input, ...val }, options),
    putBlob: (input, options) => client.putValBlob({ ...input, ...val }, options),
    deleteBlob: (input, options) => client.deleteValBlob({ ...input, ...val }, options),
    executeSql: (input, options) => client.executeValSql({ ...input, ...val }, options),
    batchSql: (input, options) => client.batchValSql({ ...input, ...val }, options),
  }
}
