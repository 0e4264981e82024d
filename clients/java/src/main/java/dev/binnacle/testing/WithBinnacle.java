package dev.binnacle.testing;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class a Kubernetes API server. Test methods take parameters of the types {@link BinnacleServer},
 * {@code io.fabric8.kubernetes.client.KubernetesClient} and {@code io.kubernetes.client.openapi.ApiClient}.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(BinnacleExtension.class)
public @interface WithBinnacle {
  /** What a test begins with. */
  Isolation isolation() default Isolation.FORK;

  /** How tests are kept apart. */
  enum Isolation {
    /**
     * A copy of the server for each test, with what {@code @BeforeAll} has put into the server, and with faults, a clock and
     * requests of its own: also for tests that run side by side.
     */
    FORK,
    /** One server for all tests, at one address, whose objects go back to those after its start before each test. */
    RESET
  }
}
