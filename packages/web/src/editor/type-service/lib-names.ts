/** The global type files; the compiler options add TypeScript's own libraries. */
export const rootLibs = ["/lib/deno.d.ts", "/lib/prelude.d.ts"] as const
