import { serveWrites } from "../serve-writes.ts"
import { type NotesWrite, writeNotes } from "./notes.ts"

serveWrites((_dialect, write: NotesWrite) => writeNotes(write))
