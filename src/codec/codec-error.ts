// The error that all decoders throw. Its message is Kubernetes' message for such a body, word for word.

/**
 * `malformed`: the bytes are not of the format; Kubernetes detects this before it reads apiVersion and kind.
 * `unacceptable`: well formed, but with a value that no object can have, such as 1e400 or a duplicate map key in CBOR.
 */
export type CodecErrorKind = 'malformed' | 'unacceptable'

export class CodecError extends Error {
  override readonly name = 'CodecError'

  constructor(
    readonly kind: CodecErrorKind,
    message: string,
    /** How many bytes were read, if the format reports that. */
    readonly offset?: number,
  ) {
    super(message)
  }
}
