import { callAll, type SdkAccount } from "./sdk-operations.ts"

// One bundle for Node and browsers: a page reads the result, a process prints it.
declare const SDK_ACCOUNT: SdkAccount

/** The results of all operations. */
export const result = await callAll(SDK_ACCOUNT)
if (!("document" in globalThis)) console.log(JSON.stringify(result))
