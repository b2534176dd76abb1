import { AsyncLocalStorage } from "node:async_hooks"
import { type Database, type Script, type Statement, type Statements, sql } from "@hamlet/database"

/** The database `db`, which tells of every statement that it is given. */
export function recording(db: Database, onStatement: (statement: Statement) => void): Database {
  return {
    ...db,
    openSearch(searcher) {
      const search = db.openSearch(searcher)
      return {
        find(candidates) {
          onStatement(candidates.select)
          return search.find(candidates)
        },
      }
    },
    read(...given) {
      const statement = sql(...given)
      onStatement(statement)
      return db.read(statement)
    },
    writeOne(...given) {
      const statement = sql(...given)
      onStatement(statement)
      return db.writeOne(statement)
    },
    runUrgent(...given) {
      const statement = sql(...given)
      onStatement(statement)
      return db.runUrgent(statement)
    },
    write(script, options) {
      // A script may run with those of others, in the context of the first script.
      const onOwn = AsyncLocalStorage.bind(onStatement)
      return db.write(() => tell(script(), onOwn), options)
    },
  }
}

function* tell<T>(steps: Script<T>, onStatement: (statement: Statement) => void): Script<T> {
  let step = steps.next()
  while (!step.done) {
    const { value } = step
    if ("key" in value) {
      yield { key: value.key, run: () => tell(value.run(), onStatement) as Statements<void> }
      step = steps.next([])
    } else {
      onStatement(value)
      step = steps.next(yield value)
    }
  }
  return step.value
}
