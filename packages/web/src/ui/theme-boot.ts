import { applyTheme, readTheme } from "./theme-storage.ts"

// A file of its own that runs before the first paint: otherwise a page chosen to be dark would
// flash white.
applyTheme(readTheme())
