// Binnacle inside another program, such as a test: `const server = await startBinnacle()`.
import {
  type AdmissionCall,
  type AdmissionCalls,
  AdmissionDenial,
  type AdmissionFunction,
  type AdmissionRequest,
  type AdmissionRule,
  type AdmissionSelector,
  type DenialStatus,
} from '../admission/functions.js'
import type { Identity } from '../auth/authenticator.js'
import type { LogLine } from '../base/logger.js'
import { UsageError } from '../base/usage-error.js'
import type { ConvertFunction } from '../convert/function-conversion.js'
import { type BinnacleOptions, readLibraryOptions } from './options/library.js'
import { startServer } from './server.js'
import { printKubeconfig } from './tls/kubeconfig.js'
import type { KeyPair } from './tls/x509.js'

export {
  makeWebhookCertificates,
  trustWebhooks,
  type WebhookCertificates,
  type WebhookTrust,
} from './webhook-certificates.js'
export type {
  AdmissionCall,
  AdmissionCalls,
  AdmissionFunction,
  AdmissionRequest,
  AdmissionRule,
  AdmissionSelector,
  BinnacleOptions,
  ConvertFunction,
  DenialStatus,
  Identity,
  KeyPair,
  LogLine,
}
export { AdmissionDenial }

export interface Binnacle {
  /** `https://127.0.0.1:41234`. */
  readonly url: string
  /** The text of a kubeconfig with which the administrator has access. */
  readonly kubeconfig: string
  /** PEM: the authority that signed the server's certificate. */
  readonly ca: string
  /** The administrator's bearer token, created for this start. */
  readonly token: string
  /** The administrator's client certificate, which gives the same access. */
  readonly client: KeyPair
  /** A link that signs in to the console once, as the administrator. It is valid for ten minutes. Needs `console: true`. */
  consoleLink(): string
  /** What the functions of `admission` were asked. */
  readonly admission: AdmissionCalls
  /** Ends watches, answers the requests that are being served, and closes everything. */
  stop(): Promise<void>
}

/**
 * Starts a server with its own objects, certificates and token; any number of servers can run beside each other. Rejects
 * when an option is unknown or has a wrong value, or when something cannot be opened, such as the port.
 */
export async function startBinnacle(options: BinnacleOptions = {}): Promise<Binnacle> {
  const { server: serverOptions, token } = readLibraryOptions(options)
  const server = await startServer(serverOptions)
  const { ca = '', client = { cert: '', key: '' } } = server.access
  return {
    url: server.access.server,
    kubeconfig: printKubeconfig(server.access),
    ca,
    token,
    client,
    consoleLink() {
      if (!server.consoleLink) throw new UsageError('the console is not served: start with { console: true }')
      return server.consoleLink()
    },
    admission: server.admission,
    stop: () => server.stop(),
  }
}
