package fsweep.rig;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.security.GroupMappingServiceProvider;

/** Every user is in a group of his own name, and in "users". */
public final class OwnGroup implements GroupMappingServiceProvider {
  @Override
  public List<String> getGroups(String user) {
    return List.of(user, "users");
  }

  /** Of Hadoop 3.4; older lines have no such method. */
  public Set<String> getGroupsSet(String user) {
    return Collections.unmodifiableSet(new LinkedHashSet<>(getGroups(user)));
  }

  @Override
  public void cacheGroupsRefresh() {}

  @Override
  public void cacheGroupsAdd(List<String> groups) {}
}
