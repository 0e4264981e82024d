// Errors of a step, with words that say in which step they happened.

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** The beginning of a body, which may be a long page of something between this server and the issuer. */
export const quotedBody = (body: Buffer): string => body.toString('utf8', 0, MAX_QUOTED_BYTES)

const MAX_QUOTED_BYTES = 2048

/** For `catch` of a promise: throws the error with words before it. */
export const inStep =
  (words: string) =>
  (error: unknown): never => {
    throw new Error(`${words}${messageOf(error)}`, { cause: error })
  }
