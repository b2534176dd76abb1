export const verbs =
  "fetch send parse render store check build count merge track notify collect publish filter sort archive import watch update convert".split(
    " ",
  )

export const nouns =
  "weather report invoice calendar feed image message profile ticket playlist recipe sensor backup digest headline currency auction forecast survey badge".split(
    " ",
  )

/** Two of the words above that are adjacent only where a search must find them. */
export const rareNeighbours = "weather report"

export const fillers = (
  "the a of for with every from into about after before when while only again never always first last next new old small large quick quiet daily weekly " +
  "morning evening user owner server client browser address number letter string object value result answer question request response error warning " +
  "limit queue batch window screen button page list table column row index key secret token header footer title summary detail note reminder event " +
  "schedule interval minute hour second month year city country street garden river mountain station airport train ticket market price offer order"
).split(" ")
