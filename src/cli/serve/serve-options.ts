// Turns the command line of `binnacle serve` into the options of a server, and refuses what cannot be carried out before
// anything is touched.
import { randomBytes } from 'node:crypto'
import { delimiter, join } from 'node:path'
import type { Identity } from '../../auth/authenticator.js'
import { homeDirectory } from '../../base/files/home-directory.js'
import { UsageError } from '../../base/usage-error.js'
import { createSessions } from '../../console/sessions.js'
import { isGateOn } from '../../meta/feature-gates.js'
import {
  ADMINISTRATOR,
  admissionFromFlags,
  allowsEverything,
  apiFromFlags,
  apiWarnings,
  auditFromFlags,
  auditWarnings,
  authenticationFromFlags,
  authorizationFromFlags,
  controllersFromFlags,
  controllerWarnings,
  coordinationFromFlags,
  DEFAULT_MEDIA_TYPE,
  describeStorage,
  egressFromFlags,
  encryptionFromFlags,
  leaderElectionFromFlags,
  limitsFromFlags,
  loggingFromFlags,
  metricsFromFlags,
  printFlagValues,
  type ServerOptions,
  servingFromFlags,
  storageFromFlags,
  storageWarnings,
  tracingFromFlags,
  workloadsFromFlags,
} from '../../server/options.js'
import type { StorageOptions } from '../../storage/open-store.js'
import { parseFlags } from '../flags/flags.js'
import { otherFlags, type ServeFlags, serveFlags } from './serve-flags.js'

export interface ServePlan {
  readonly server: ServerOptions
  readonly dataDir: string
  /** Flags that have no effect. */
  readonly warnings: readonly string[]
  /** Where objects are stored, in words. */
  readonly storedWhere: string
  /** The file for the administrator's kubeconfig, and one to which it is added. */
  readonly kubeconfig: string
  readonly mergeInto: string | undefined
  /** Whether the testing API is served. */
  readonly testing: boolean
  /** Whether the server stops when standard input ends. */
  readonly stopsWithStdin: boolean
  /** The administrator's token, where client certificates cannot be used. */
  readonly token: string | undefined
  /** Whether the console is opened in a browser. */
  readonly open: boolean
}

export function readServeOptions(args: readonly string[]): ServePlan {
  const { values: flags, given, ignored } = parseFlags(args, serveFlags, otherFlags())
  const dataFolder = flags['data-dir']
  const { testing } = flags
  if (testing && flags.storage !== undefined && flags.storage !== 'memory') {
    throw new UsageError(`--testing keeps objects in memory: leave out --storage=${flags.storage}`)
  }
  if (flags.open && !flags.console) throw new UsageError('--open opens the console, which --console=false switches off')
  const storage: StorageOptions = testing ? { kind: 'memory' } : storageFromFlags(flags)
  const egress = egressFromFlags(flags)
  const authentication = authenticationFromFlags(flags, given, egress)
  const server: ServerOptions = {
    storage,
    serving: servingFromFlags(flags, dataFolder),
    authentication,
    authorization: authorizationFromFlags(flags, given),
    admission: admissionFromFlags(flags),
    api: apiFromFlags(flags, flags['storage-media-type'] ?? DEFAULT_MEDIA_TYPE),
    encryption: encryptionFromFlags(flags),
    audit: auditFromFlags(flags),
    tracing: tracingFromFlags(flags),
    egress,
    leaderElection: leaderElectionFromFlags(flags),
    coordination: coordinationFromFlags(flags),
    // Tests compare revisions, and nothing looks for the servers of a test.
    controllers: { ...controllersFromFlags(flags), identityLease: hasIdentity(flags) },
    workloads: workloadsFromFlags(flags),
    limits: limitsFromFlags(flags),
    logging: loggingFromFlags(flags),
    metrics: metricsFromFlags(flags),
    console: flags.console ? { sessions: createSessions() } : undefined,
    flags: printFlagValues(serveFlags, flags),
  }
  const warnings = [
    ...ignored.map(name => `--${name} has no effect here`),
    ...apiWarnings(flags),
    ...auditWarnings(flags),
    ...controllerWarnings(flags.controllers),
    ...storageWarnings(storage, given),
    ...(flags['anonymous-auth'] && allowsEverything(server.authorization) ? [ANONYMOUS_OFF] : []),
  ]
  return {
    server,
    dataDir: dataFolder,
    warnings,
    storedWhere: describeStorage(storage),
    kubeconfig: flags['kubeconfig-out'] ?? join(dataFolder, 'kubeconfig'),
    mergeInto: flags['merge-kubeconfig'] ? usersKubeconfig() : undefined,
    testing,
    stopsWithStdin: flags['stop-with-stdin'],
    open: flags.open,
    token:
      flags.https && !testing && authentication.clientCa === undefined
        ? undefined
        : addAdminToken(authentication.tokens),
  }
}

const ANONYMOUS_OFF =
  '--authorization-mode=AlwaysAllow switches --anonymous-auth off, because a request without credentials could do everything'

/** Over plain http there are no client certificates, and with other authorities ours is not accepted. So it gets a token. */
function addAdminToken(tokens: Map<string, Identity>): string {
  const token = randomBytes(24).toString('base64url')
  tokens.set(token, ADMINISTRATOR)
  return token
}

/** Of several files in $KUBECONFIG, kubectl too changes the first. */
export const usersKubeconfig = (): string =>
  process.env['KUBECONFIG']?.split(delimiter).find(Boolean) ?? join(homeDirectory(), '.kube', 'config')

const hasIdentity = (flags: ServeFlags): boolean =>
  !flags.testing && isGateOn(flags['feature-gates'], 'APIServerIdentity')
