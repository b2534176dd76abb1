export { PrivatePostgres } from "./private-postgres.ts"
export {
  createTestDatabases,
  type OpenDatabase,
  openAgain,
  type TestDatabase,
} from "./test-databases.ts"
