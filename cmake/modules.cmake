# tomos_compiled_together(TARGET): builds that nobody edits and builds again all day (those with sanitizers, and `make demo`) take
# several files as one: most of the time goes into headers. So a name in an anonymous namespace must be the only one in its folder.
function(tomos_compiled_together target)
  if(TOMOS_TOGETHER)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
endfunction()

# tomos_module(NAME [LOADED] LINK ...): the folder src/NAME as one static library, or as one that is loaded when it is needed.
#
# Headers are included as "NAME/file.h". Each module has an include directory of its own that holds nothing but a link to
# its folder, so a file can include a header only if its module links the header's module.
function(tomos_module name)
  cmake_parse_arguments(ARG "LOADED" "" "LINK" ${ARGN})
  set(include_dir ${CMAKE_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${include_dir})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/src/${name} ${include_dir}/${name} SYMBOLIC)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(sources)
    if(ARG_LOADED)
      add_library(${name} MODULE ${sources})
      set_target_properties(${name} PROPERTIES OUTPUT_NAME tomos_${name} CXX_VISIBILITY_PRESET hidden)
    else()
      add_library(${name} STATIC ${sources})
    endif()
    target_include_directories(${name} PUBLIC ${include_dir})
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
    tomos_compiled_together(${name})
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${include_dir})
    target_link_libraries(${name} INTERFACE ${ARG_LINK})
  endif()
endfunction()
