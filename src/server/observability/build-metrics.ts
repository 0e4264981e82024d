// Metrics that do not change while the server runs: its build, its version and its feature gates.
import type { MetricsRegistry } from '../../base/metrics.js'
import { serverVersion } from '../../discovery/version.js'
import { type EffectiveVersion, printMinor } from '../../meta/effective-version.js'
import { allFeatureGates, type FeatureGates } from '../../meta/feature-gates.js'

export function registerBuildMetrics(metrics: MetricsRegistry, gates: FeatureGates, version: EffectiveVersion): void {
  const { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform } =
    serverVersion() as Record<string, string>
  const values = { major, minor, gitVersion, gitCommit, gitTreeState, buildDate, goVersion, compiler, platform }
  metrics
    .gauge(
      'kubernetes_build_info',
      "A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, build date, version of the runtime, and compiler.",
      [
        'major',
        'minor',
        'git_version',
        'git_commit',
        'git_tree_state',
        'build_date',
        'go_version',
        'compiler',
        'platform',
      ],
    )
    .with(...(Object.values(values) as [string, string, string, string, string, string, string, string, string]))
    .set(1)
  metrics
    .gauge('version_info', 'Provides the compatibility version info of the component.', [
      'binary',
      'component',
      'emulation',
      'min_compat',
    ])
    .with(
      values.gitVersion!.replace(/^v|\+.*/g, ''),
      'kube',
      printMinor(version.emulation),
      printMinor(version.minCompatibility),
    )
    .set(1)
  const features = metrics.gauge(
    'kubernetes_feature_enabled',
    'This metric records the data about the stage and enablement of a k8s feature.',
    ['name', 'stage'],
  )
  for (const { name, stage, isOn } of allFeatureGates(gates, version)) features.with(name, stage).set(isOn ? 1 : 0)
}
