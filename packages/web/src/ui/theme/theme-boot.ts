import { applyTheme, readTheme } from "./theme-storage.ts"

// A separate script that runs before the first paint: otherwise a dark page would flash white.
applyTheme(readTheme())
