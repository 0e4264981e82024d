// The flags of `binnacle serve`: kube-apiserver's own names where it has one.
import { homedir } from 'node:os'
import { join } from 'node:path'
import { type HostOverrides, parseHostOverride } from '../../webhook/host-overrides.js'
import { booleans, choice, count, duration, list, optionalText, port, text, toggle } from '../flags/flag-values.js'
import type { FlagTable, FlagValues } from '../flags/flags.js'
import { UsageError } from '../flags/usage-error.js'

const NO_HOSTS: HostOverrides = new Map()

export const serveFlags = {
  'data-dir': text(
    '<folder>',
    'what is kept: store/ for objects, pki/ for certificates, kubeconfig',
    join(homedir(), '.binnacle'),
  ),
  storage: {
    ...choice<'lmdb' | 'memory' | 'etcd'>(['lmdb', 'memory', 'etcd'], 'where objects are kept', undefined),
    byDefault: 'lmdb, or etcd with --etcd-servers',
  },
  'secure-port': port('the port for https; 0 takes any free one', 6443),
  'bind-address': text('<address>', 'the address on which https is served', '127.0.0.1'),
  https: toggle('serve https; with --https=false, only plain http is served, on --http-port', true),
  'http-port': port('also serve plain http on this port of 127.0.0.1; 0 takes any free one', undefined),
  'kubeconfig-out': {
    ...optionalText('<file>', 'where the kubeconfig of an administrator is written'),
    byDefault: '<data-dir>/kubeconfig',
  },
  'merge-kubeconfig': toggle(
    'also add it to $KUBECONFIG or ~/.kube/config, and make it the current context there',
    false,
  ),

  'cert-dir': {
    ...optionalText(
      '<folder>',
      'where certificates are kept that are made on the first start; apiserver.crt and apiserver.key are used if there',
    ),
    byDefault: '<data-dir>/pki',
  },
  'tls-cert-file': optionalText('<file>', 'the certificate for https, followed by those of its authorities'),
  'tls-private-key-file': optionalText('<file>', 'the key of --tls-cert-file'),
  'client-ca-file': optionalText('<file>', 'authorities whose client certificates are believed, beside our own'),
  'token-auth-file': optionalText('<file>', 'static tokens, a line each: token,user,uid,"group1,group2"'),
  'anonymous-auth': toggle('let requests in that do not prove who sent them, as system:anonymous', true),
  'authorization-mode': list('RBAC|AlwaysAllow', 'who may do what; AlwaysAllow lets nobody in anonymously', ['RBAC']),

  'etcd-servers': list('<urls>', 'etcd endpoints, separated by commas'),
  'etcd-prefix': text('<prefix>', 'what every key in etcd begins with', '/registry'),
  'etcd-cafile': optionalText('<file>', 'the certificate authority of the etcd servers'),
  'etcd-certfile': optionalText('<file>', 'the client certificate for etcd'),
  'etcd-keyfile': optionalText('<file>', 'the key of --etcd-certfile'),

  'service-cluster-ip-range': text('<range>', 'the addresses that services get', '10.0.0.0/24'),
  'feature-gates': booleans('<gate>=true|false,…', 'features to switch on or off', 'CBORServingAndStorage=true'),
  'runtime-config': booleans('<group/version>=true|false,…', 'API versions to switch on or off', 'apps/v1=true'),
  'enable-admission-plugins': list('<names>', 'admission plugins to switch on'),
  'disable-admission-plugins': list('<names>', 'admission plugins to switch off, such as NamespaceLifecycle'),
  'webhook-resolve': {
    placeholder: '<host>=<address>[:<port>]',
    about:
      'where a webhook is found that is named by a URL or a service, such as converter.default.svc=127.0.0.1:9443; may be repeated',
    initial: NO_HOSTS,
    byDefault: '',
    read: readKnownHost,
  },
  'enable-garbage-collector': toggle('delete objects whose owners are gone', true),
  'enable-namespace-controller': toggle('delete what is in a namespace along with it', true),

  'max-requests-inflight': count('how many reading requests are worked on at once; 0 sets no limit', 400),
  'max-mutating-requests-inflight': count('how many writing requests are worked on at once; 0 sets no limit', 200),
  'request-timeout': duration('how long a request may take that is not a watch', 60_000),
  'min-request-timeout': count('how many seconds a watch lasts at least when its client does not say', 1800),
} satisfies FlagTable

function readKnownHost(given: string, before: HostOverrides): HostOverrides {
  const known = parseHostOverride(given)
  if (!known) throw new UsageError('it must be a host and where it is, such as converter.default.svc=127.0.0.1:9443')
  return new Map([...before, known])
}

export type ServeFlags = FlagValues<typeof serveFlags>
