// All options of a server, by concern. The command line and the library each fill them (cli/serve, library.ts).

import type { TimerClock } from '../../base/clock.js'
import type { Dials } from '../../base/dial.js'
import type { MetricsOptions } from '../../base/metrics.js'
import type { ElectionTimes } from '../../controllers/start-controllers.js'
import type { StorageOptions } from '../../storage/open-store.js'
import type { WorkloadOptions } from '../../workloads/workload-options.js'
import type { EncryptionOptions } from '../encryption/encryption.js'
import type { TracingOptions } from '../tracing/configuration.js'
import type { AuditOptions } from './access/audit.js'
import type { AuthenticationOptions } from './access/authentication.js'
import type { AuthorizationOptions } from './access/authorization.js'
import type { AdmissionOptions } from './admission.js'
import type { ApiOptions } from './api.js'
import type { ConsoleOptions } from './console.js'
import type { ControllerOptions } from './controllers.js'
import type { ServerHooks } from './hooks.js'
import type { LimitOptions } from './limits.js'
import type { LoggingOptions } from './logging.js'
import type { ServingOptions } from './serving.js'

export interface ServerOptions {
  readonly storage: StorageOptions
  /** Undefined: objects are stored in the clear. */
  readonly encryption?: EncryptionOptions | undefined
  readonly serving: ServingOptions
  readonly authentication: AuthenticationOptions
  readonly authorization: AuthorizationOptions
  readonly admission: AdmissionOptions
  readonly api: ApiOptions
  readonly controllers: ControllerOptions
  readonly limits: LimitOptions
  readonly logging: LoggingOptions
  readonly metrics?: MetricsOptions | undefined
  /** Undefined: requests are not recorded. */
  readonly audit?: AuditOptions | undefined
  /** Through which proxies connections are opened; all are direct when absent. */
  readonly egress?: Dials | undefined
  /** Undefined: no spans are recorded. */
  readonly tracing?: TracingOptions | undefined
  /** Of the replicas on one etcd; the defaults when absent. */
  readonly leaderElection?: ElectionTimes | undefined
  /** The same for the replica that chooses the holders of Leases. */
  readonly coordination?: ElectionTimes | undefined
  /** Undefined: workloads are not simulated. */
  readonly workloads?: WorkloadOptions | undefined
  readonly clock?: TimerClock | undefined
  /** The console is not served when absent. */
  readonly console?: ConsoleOptions | undefined
  readonly hooks?: ServerHooks | undefined
  /** The flags of the command line as text, for /flagz. */
  readonly flags?: Readonly<Record<string, string>> | undefined
}
