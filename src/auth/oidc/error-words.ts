// Errors of a step, with words that say in which step they happened.

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** For `catch` of a promise: throws the error with words before it. */
export const inStep =
  (words: string) =>
  (error: unknown): never => {
    throw new Error(`${words}${messageOf(error)}`, { cause: error })
  }
