/**
 * The files with the types that are there without being imported; TypeScript's own libraries follow
 * from the compiler's options.
 */
export const rootLibs = ["/lib/deno.d.ts", "/lib/prelude.d.ts"] as const
