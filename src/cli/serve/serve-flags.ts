// The flags of `binnacle serve`, by concern. They have kube-apiserver's names where it has the flag too.
import {
  admissionFlags,
  apiFlags,
  auditFlags,
  authenticationFlags,
  authorizationFlags,
  consoleFlags,
  controllerFlags,
  egressFlags,
  type FlagTable,
  type FlagValues,
  leaderElectionFlags,
  limitFlags,
  loggingFlags,
  metricsFlags,
  optionalText,
  otherKubeFlags,
  servingFlags,
  storageFlags,
  toggle,
  tracingFlags,
  workloadFlags,
} from '../../server/options.js'
import { printFlags } from '../flags/flags.js'

/** The file with the administrator's access, which only the command line writes. */
const kubeconfigFlags = {
  'kubeconfig-out': {
    ...optionalText('<file>', 'where the kubeconfig of the administrator is written'),
    byDefault: '<data-dir>/kubeconfig',
  },
  'merge-kubeconfig': toggle(
    'also add it to $KUBECONFIG or ~/.kube/config, and make it the current context there',
    false,
  ),
} satisfies FlagTable

const openFlags = {
  ...consoleFlags,
  open: toggle('open the console in a browser', false),
} satisfies FlagTable

const testingFlags = {
  testing: toggle(
    'serve the testing API below /binnacle/testing: faults, a clock that moves, reset and copies; objects are kept in memory',
    false,
  ),
  'stop-with-stdin': toggle(
    'stop when standard input ends: a program that holds its other side leaves no server behind, also if it is killed',
    false,
  ),
} satisfies FlagTable

export const serveFlags = {
  ...storageFlags,
  ...servingFlags,
  ...kubeconfigFlags,
  ...authenticationFlags,
  ...authorizationFlags,
  ...admissionFlags,
  ...apiFlags,
  ...auditFlags,
  ...tracingFlags,
  ...egressFlags,
  ...leaderElectionFlags,
  ...controllerFlags,
  ...workloadFlags,
  ...limitFlags,
  ...loggingFlags,
  ...metricsFlags,
  ...openFlags,
  ...testingFlags,
} satisfies FlagTable

export type ServeFlags = FlagValues<typeof serveFlags>

export const otherFlags = () => otherKubeFlags(serveFlags)

const SECTIONS: Readonly<Record<string, FlagTable>> = {
  Storage: storageFlags,
  Serving: servingFlags,
  Kubeconfig: kubeconfigFlags,
  Authentication: authenticationFlags,
  Authorization: authorizationFlags,
  Admission: admissionFlags,
  API: apiFlags,
  Audit: auditFlags,
  Tracing: tracingFlags,
  Proxy: egressFlags,
  Controllers: controllerFlags,
  'Simulated workloads': workloadFlags,
  'Leader election': leaderElectionFlags,
  Limits: limitFlags,
  Logging: loggingFlags,
  Metrics: metricsFlags,
  Console: openFlags,
  Testing: testingFlags,
}

export function serveHelp(): string {
  const sections = Object.entries(SECTIONS).map(([title, flags]) => `${title} flags:\n${printFlags(flags)}\n`)
  const others = [...otherFlags()]
  const harmless = others.filter(([, { refusal }]) => refusal === undefined).map(([name]) => `--${name}`)
  const refused = others.filter(([, { refusal }]) => refusal !== undefined).map(([name]) => `--${name}`)
  return `Usage: binnacle serve [flags]

Serves the Kubernetes API from a data folder, from memory or from etcd.

${sections.join('\n')}
Flags of kube-apiserver that are accepted and have no effect:
${wrap(harmless)}

Flags of kube-apiserver that are refused, because ignoring them would be unsafe; the message says why:
${wrap(refused)}
`
}

/** The help with the list of admission plugins, which is loaded only for it. */
export async function fullServeHelp(): Promise<string> {
  const { listAdmissionPlugins } = await import('../../server/admission-plugin-list.js')
  const { on, off, missing } = listAdmissionPlugins()
  const absent = [...missing].map(([reason, names]) => `${wrap(names)}\n      ${reason}`)
  return `${serveHelp()}
Admission plugins that are on by default, in the order in which they run:
${wrap(on)}

Admission plugins that are off by default:
${wrap(off)}

Admission plugins of kube-apiserver that are not here, with the reason:
${absent.join('\n')}
`
}

/** Words in lines of at most 100 characters, indented by two. */
function wrap(words: readonly string[]): string {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last === undefined || last.length + word.length + 1 > 100) lines.push(`  ${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines.join('\n')
}
