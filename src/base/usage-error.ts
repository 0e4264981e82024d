// A flag, an option or a file of the user is wrong. The message is one line that says what would be right.

export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly code = 'usage'
}
