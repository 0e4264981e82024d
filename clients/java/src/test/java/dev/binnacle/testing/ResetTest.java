package dev.binnacle.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.binnacle.testing.WithBinnacle.Isolation;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.RepeatedTest;

@WithBinnacle(isolation = Isolation.RESET)
class ResetTest {
  private static final Set<String> urls = new HashSet<>();

  @RepeatedTest(2)
  void eachTestBeginsAnewAtTheSameAddress(KubernetesClient client, BinnacleServer server) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("once").withNamespace("default").endMetadata().build()).create();
    urls.add(server.url());
    assertEquals(1, urls.size());
  }
}
