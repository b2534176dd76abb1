import type { StorageClient } from "@hamlet/contract/client"
import { createContext } from "preact"
import { useContext } from "preact/hooks"
import { api } from "../api.ts"

/** Whose blobs and database the parts of a page show: by default those that all vals share. */
export const StorageContext = createContext<StorageClient>(api)

/** The blobs and the database that are shown. */
export function useStorage(): StorageClient {
  return useContext(StorageContext)
}

/** The address of the module with which vals reach them. */
export function useStorageModule(name: "blob" | "sqlite"): string {
  return useStorage() === api ? `/std/${name}` : `/std/${name}/main.ts`
}
