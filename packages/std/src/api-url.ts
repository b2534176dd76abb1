/**
 * The address of the API: this server's in a val, Val Town's elsewhere. Vals written for Val Town
 * send requests to it with the token in the environment variable `valtown`.
 *
 * @module
 */

interface Runtime {
  Deno?: { env: { get(name: string): string | undefined } }
}

/** The address of the API, without a slash at its end. */
export const API_URL: string =
  (globalThis as Runtime).Deno?.env.get("HAMLET_URL") ?? "https://api.val.town"
