import { signal } from "@preact/signals"
import type { SnippetKind } from "./snippet.ts"

/** The kind of snippet the person looks at: the same on every operation. */
export const snippetKind = signal<SnippetKind>("curl")
