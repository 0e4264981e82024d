import { describe, expect, test } from 'vitest'
import { printFieldError } from '../../../meta/errors/field-errors.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'
import type { ValueObject } from '../../../meta/values/value.js'
import {
  changesSecurity,
  type Evaluated,
  evaluatePod,
  evaluateTemplate,
  existingViolations,
  templateOf,
  tightenedLevel,
} from './evaluate.js'
import { type Level, PRIVILEGED, policyOf } from './policy.js'
import { printViolations, violationsOf } from './standard.js'

const ENFORCE = 'pod-security.kubernetes.io/enforce'
const WARN = 'pod-security.kubernetes.io/warn'

const container = (security: ValueObject = {}, rest: ValueObject = {}): ValueObject => ({
  name: 'c',
  securityContext: security,
  ...rest,
})

/** Violates nothing. */
const HARDENED: ValueObject = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

function violated(level: Level, spec: ValueObject, minor = Number.POSITIVE_INFINITY, annotations = {}): string {
  const containers = [container(HARDENED)]
  return printViolations(violationsOf({ level, minor }, { annotations, spec: { containers, ...spec } }))
}

const hardened = (security: ValueObject, rest: ValueObject = {}): ValueObject => ({
  containers: [container({ ...HARDENED, ...security }, rest)],
})

test.each<[ValueObject, string]>([
  [{}, ''],
  [{ hostPID: true, hostIPC: true }, 'host namespaces (hostPID=true, hostIPC=true)'],
  [
    {
      volumes: [
        { name: 'a', hostPath: {} },
        { name: 'b', hostPath: {} },
        { name: 'c', emptyDir: {} },
      ],
    },
    'hostPath volumes (volumes "a", "b")',
  ],
  [
    hardened({}, { ports: [{ hostPort: 80 }, { hostPort: 443 }, {}] }),
    'hostPort (container "c" uses hostPorts 443, 80)',
  ],
  [
    hardened({}, { livenessProbe: { httpGet: { host: 'h' } }, lifecycle: { preStop: { tcpSocket: { host: 'g' } } } }),
    'probe or lifecycle host (container "c" uses probe or lifecycle hosts "g", "h")',
  ],
  [
    {
      initContainers: [container({ privileged: true })],
      containers: [{ name: 'd', securityContext: { privileged: true } }],
    },
    'privileged (containers "c", "d" must not set securityContext.privileged=true)',
  ],
  [
    hardened({ procMount: 'Unmasked' }),
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [{ hostUsers: false, ...hardened({ procMount: 'Unmasked' }) }, ''],
  [
    { securityContext: { seLinuxOptions: { type: 'x', user: 'u' } }, ...hardened({ seLinuxOptions: { role: 'r' } }) },
    'seLinuxOptions (pod and container "c" set forbidden securityContext.seLinuxOptions: type "x"; user may not be set; role may not be set)',
  ],
  [{ securityContext: { seLinuxOptions: { type: 'container_engine_t' } } }, ''],
  [
    { securityContext: { seccompProfile: { type: 'Unconfined' } } },
    'seccompProfile (pod must not set securityContext.seccompProfile.type to "Unconfined")',
  ],
  [
    { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }, { name: 'kernel.msgmax' }] } },
    'forbidden sysctls (kernel.msgmax)',
  ],
  [
    { securityContext: { windowsOptions: { hostProcess: true } } },
    'hostProcess (pod must not set securityContext.windowsOptions.hostProcess=true)',
  ],
  [
    hardened({ appArmorProfile: { type: 'Unconfined' } }),
    'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
  ],
  [
    hardened({ capabilities: { add: ['NET_RAW', 'CHOWN'] } }),
    'non-default capabilities (container "c" must not include "NET_RAW" in securityContext.capabilities.add)',
  ],
])('baseline: %j', (spec, violations) => {
  expect(violated('baseline', spec)).toBe(violations)
})

test.each<[ValueObject, string]>([
  [{}, ''],
  [
    {
      os: { name: 'windows' },
      ...hardened({ allowPrivilegeEscalation: true, capabilities: {}, seccompProfile: null }),
    },
    '',
  ],
  [
    hardened({ allowPrivilegeEscalation: true }),
    'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
  ],
  [
    hardened({ capabilities: { add: ['SYS_ADMIN', 'NET_BIND_SERVICE'] } }),
    'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "SYS_ADMIN" in securityContext.capabilities.add)',
  ],
  [
    {
      volumes: [
        { name: 'v', hostPath: {} },
        { name: 'n', nfs: {} },
      ],
    },
    'restricted volume types (volumes "v", "n" use restricted volume types "hostPath", "nfs")',
  ],
  [
    { securityContext: { runAsNonRoot: false } },
    'runAsNonRoot != true (pod must not set securityContext.runAsNonRoot=false)',
  ],
  [
    hardened({ runAsNonRoot: null }),
    'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
  ],
  [{ securityContext: { runAsNonRoot: true }, ...hardened({ runAsNonRoot: null }) }, ''],
  [{ securityContext: { runAsUser: 0 } }, 'runAsUser=0 (pod must not set runAsUser=0)'],
  [{ hostUsers: false, securityContext: { runAsUser: 0 } }, ''],
  [
    { hostUsers: false, ...hardened({ procMount: 'Unmasked' }) },
    'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
  ],
  [
    hardened({ seccompProfile: null }),
    'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
  ],
])('restricted: %j', (spec, violations) => {
  expect(violated('restricted', spec)).toBe(violations)
})

describe('earlier versions of the standards', () => {
  test('know fewer safe sysctls', () => {
    const spec = { securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem' }] } }
    expect(violated('baseline', spec, 31)).toBe('forbidden sysctls (net.ipv4.tcp_rmem)')
    expect(violated('baseline', spec, 32)).toBe('')
  })

  test('have annotations in place of seccomp profiles', () => {
    const annotations = { 'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined' }
    const text = 'container.seccomp.security.alpha.kubernetes.io/c="unconfined"'
    expect(violated('baseline', {}, 18, annotations)).toBe(`seccompProfile (forbidden annotation ${text})`)
    expect(violated('restricted', hardened({ seccompProfile: null }), 18)).toBe('')
    expect(violated('baseline', {}, 19, annotations)).toBe('')
  })

  test('have fewer checks for restricted, but always those of baseline', () => {
    const added = hardened({ capabilities: { add: ['SYS_ADMIN'] } })
    expect(violated('restricted', added, 21)).toMatch(/^non-default capabilities/)
    expect(violated('restricted', added, 22)).toMatch(/^unrestricted capabilities/)
    expect(violated('restricted', { hostUsers: false, securityContext: { runAsUser: 0 } }, 34)).toMatch(/^runAsUser=0/)
  })

  test('a future version is the newest one', () => {
    expect(violated('baseline', { hostPID: true }, 999)).toBe('host namespaces (hostPID=true)')
  })
})

test('AppArmor annotations are named with their values', () => {
  const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }
  expect(violated('baseline', {}, 36, annotations)).toBe(
    String.raw`forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c=\"unconfined\"")`,
  )
})

describe('labels', () => {
  test('that are invalid are errors, and enforce the strictest level', () => {
    const { policy, errors } = policyOf({ [ENFORCE]: 'odd', [WARN]: 'odd', [`${ENFORCE}-version`]: '1.30' }, PRIVILEGED)
    expect(policy).toMatchObject({ enforce: { level: 'restricted' }, warn: { level: 'privileged' } })
    expect(errors.map(printFieldError)).toEqual([
      `metadata.labels[${ENFORCE}]: Invalid value: "odd": must be one of privileged, baseline, restricted`,
      `metadata.labels[${ENFORCE}-version]: Invalid value: "1.30": must be "latest" or "v1.x"`,
      `metadata.labels[${WARN}]: Invalid value: "odd": must be one of privileged, baseline, restricted`,
    ])
  })

  test('refuse pods, and warn of pods and templates', () => {
    const policyBy = (labels: Labels) => policyOf(labels, PRIVILEGED).policy
    const policy = policyBy({ [ENFORCE]: 'baseline', [`${ENFORCE}-version`]: 'v1.30', [WARN]: 'baseline' })
    const counted: string[] = []
    const count: Evaluated = (isAllowed, { level }, mode) => void counted.push(`${mode} ${level} ${isAllowed}`)
    const pod = { annotations: {}, spec: { hostPID: true } }
    expect(evaluatePod(policy, pod, count)).toEqual({
      refusal: 'violates PodSecurity "baseline:v1.30": host namespaces (hostPID=true)',
      warnings: [],
    })
    const warnings = ['would violate PodSecurity "baseline:latest": host namespaces (hostPID=true)']
    expect(evaluateTemplate(policy, pod, count)).toEqual(warnings)
    expect(evaluatePod(policyBy({ [WARN]: 'baseline' }), pod, count)).toEqual({ warnings })
    expect(counted).toEqual([
      'enforce baseline false',
      'warn baseline false',
      'enforce privileged true',
      'warn baseline false',
    ])
  })

  test('warn of the level that they enforce, unless they set another one', () => {
    const warn = (labels: Labels) => policyOf(labels, PRIVILEGED).policy.warn
    expect(warn({ [ENFORCE]: 'restricted', [`${ENFORCE}-version`]: 'v1.30' })).toEqual({
      level: 'restricted',
      minor: 30,
    })
    expect(warn({ [ENFORCE]: 'restricted', [WARN]: 'baseline' }).level).toBe('baseline')
    expect(warn({ [ENFORCE]: 'odd' }).level).toBe('privileged')
  })

  test('that are stricter than before are found', () => {
    const policyBy = (labels: Labels) => policyOf(labels, PRIVILEGED).policy
    const level = (labels: Labels, old: Labels) => tightenedLevel(policyBy(labels), policyBy(old))?.level
    expect(level({ [ENFORCE]: 'restricted' }, { [ENFORCE]: 'baseline' })).toBe('restricted')
    expect(level({ [ENFORCE]: 'baseline' }, { [ENFORCE]: 'restricted' })).toBeUndefined()
    expect(level({ [ENFORCE]: 'baseline' }, { [ENFORCE]: 'restricted', [`${ENFORCE}-version`]: 'v1.20' })).toBe(
      'baseline',
    )
    expect(level({}, { [ENFORCE]: 'baseline' })).toBeUndefined()
  })
})

const pod = (name: string, spec: ValueObject): ApiObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec,
})

test('existing pods are counted by the checks that they violate', () => {
  const pods = [pod('c', { hostPID: true }), pod('a', { hostPID: true }), pod('b', { hostIPC: true }), pod('d', {})]
  pods.push(pod('e', { volumes: [{ name: 'v', hostPath: {} }] }))
  const level = { level: 'baseline', minor: Number.POSITIVE_INFINITY } as const
  expect(existingViolations('x', pods, level)).toEqual([
    'existing pods in namespace "x" violate the new PodSecurity enforce level "baseline:latest"',
    'a (and 2 other pods): host namespaces',
    'e: hostPath volumes',
  ])
})

test('images and new ephemeral containers change security; labels do not', () => {
  const old = pod('a', { containers: [{ name: 'c', image: 'i' }] })
  const changed = (spec: ValueObject) =>
    changesSecurity({ ...old, spec: { ...(old['spec'] as ValueObject), ...spec } }, old)
  expect(changed({})).toBe(false)
  expect(changed({ containers: [{ name: 'c', image: 'j' }] })).toBe(true)
  expect(changed({ ephemeralContainers: [{ name: 'e', image: 'i' }] })).toBe(true)
})

test('pod templates are found by resource', () => {
  const template = { metadata: { annotations: { a: 'b' } }, spec: { hostPID: true } }
  const job: ApiObject = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {},
    spec: { jobTemplate: { spec: { template } } },
  }
  expect(templateOf('cronjobs.batch', job)).toEqual({ annotations: { a: 'b' }, spec: { hostPID: true } })
  expect(templateOf('replicationcontrollers', { ...job, spec: {} })).toBeUndefined()
})
