// How a function refuses a request.

export interface DenialStatus {
  /** The http code, from 400 on. The default is 400. */
  readonly code?: number
  /** `Forbidden`, `Invalid` … */
  readonly reason?: string
  readonly details?: {
    readonly name?: string
    readonly group?: string
    readonly kind?: string
    readonly causes?: readonly { readonly reason?: string; readonly message?: string; readonly field?: string }[]
    readonly retryAfterSeconds?: number
  }
}

/** `throw new AdmissionDenial('the size must be even', { code: 422, reason: 'Invalid' })` */
export class AdmissionDenial extends Error {
  override readonly name = 'AdmissionDenial'
  constructor(
    message = '',
    readonly status: DenialStatus = {},
  ) {
    super(message)
  }
}
